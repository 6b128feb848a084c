import { join, relative } from 'node:path'
import {
  isAwaitExpression,
  isBlock,
  isFunctionLikeDeclaration,
  isReturnStatement,
  isTryStatement,
  isVariableStatement,
  type Node,
  NodeFlags,
  type ReturnStatement,
  type SourceFile,
} from 'typescript/unstable/ast'
import type { FileSystem } from 'typescript/unstable/fs'
import { API, type Checker } from 'typescript/unstable/sync'

/**
 * Finds the places that return a promise or an async iterator without `await` while something waits
 * for the end of the block: `using`, `await using`, `catch` or `finally`. There, the resource is
 * disposed, or the `try` left, before the promise settles. Returns each place as `file:line`, with the
 * file relative to `folder`, which has a `tsconfig.json`.
 */
export function findEarlyReturns(folder: string, fs?: FileSystem): string[] {
  const api = new API(fs === undefined ? { cwd: folder } : { cwd: folder, fs })
  try {
    const [project] = api
      .updateSnapshot({ openProjects: [join(folder, 'tsconfig.json')] })
      .getProjects()
    if (project === undefined) throw new Error(`no project in ${folder}`)
    const { program, checker, rootFiles } = project
    return rootFiles.flatMap((name) => {
      const file = program.getSourceFile(name)
      if (file === undefined) throw new Error(`${name} is not in the program`)
      const early = guardedReturns(file).filter((one) => isAsync(one, checker))
      return early.map((one) => `${relative(folder, name)}:${lineOf(file, one)}`)
    })
  } finally {
    api.close()
  }
}

/** The `return` statements with a value without `await`, where leaving the block runs other code. */
function guardedReturns(file: SourceFile): ReturnStatement[] {
  const found: ReturnStatement[] = []
  const visit = (node: Node, isGuarded: boolean): void => {
    if (isReturnStatement(node) && isGuarded && node.expression !== undefined) {
      if (!isAwaitExpression(node.expression)) found.push(node)
    }
    if (isTryStatement(node)) {
      visit(node.tryBlock, true)
      if (node.catchClause) visit(node.catchClause, isGuarded || node.finallyBlock !== undefined)
      if (node.finallyBlock) visit(node.finallyBlock, isGuarded)
      return
    }
    let isInside = isGuarded && !isFunctionLikeDeclaration(node)
    node.forEachChild((child) => {
      visit(child, isInside)
      if (isBlock(node) && isUsing(child)) isInside = true
    })
  }
  visit(file, false)
  return found
}

/** Whether a statement is `using x = …` or `await using x = …`. */
function isUsing(node: Node): boolean {
  return isVariableStatement(node) && (node.declarationList.flags & NodeFlags.Using) !== 0
}

/** Whether the returned value is, or may be, a promise or an async iterator. */
function isAsync({ expression }: ReturnStatement, checker: Checker): boolean {
  const type = expression && checker.getTypeAtLocation(expression)
  if (type === undefined) return false
  const types = type.isUnionType() ? type.getTypes() : [type]
  return types.some((one) =>
    checker
      .getPropertiesOfType(one)
      .some(({ name }) => name === 'then' || name.startsWith('__@asyncIterator')),
  )
}

function lineOf(file: SourceFile, node: Node): number {
  return file.text.slice(0, node.getStart(file)).split('\n').length
}
