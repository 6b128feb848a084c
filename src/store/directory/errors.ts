import type { Explanation } from '../../errors.ts'
import { StoreError } from '../errors.ts'

const lacksPermission: Explanation = {
  state: 'permission denied',
  hint: 'give the user that runs dashkeep read and write access to the folder and its content',
  kind: 'usage',
}

const blockedByFile: Explanation = {
  state: 'a file is where a folder is needed',
  hint: 'choose another folder for the store, or move the file away',
  kind: 'usage',
}

const full: Explanation = {
  state: 'no space is left',
  hint: 'free space on the file system or raise the quota; stored snapshots are undamaged',
}

const explanations: Readonly<Record<string, Explanation>> = {
  EACCES: lacksPermission,
  EPERM: lacksPermission,
  EROFS: {
    state: 'the file system is read-only',
    hint: 'mount it writable, or choose another folder for the store',
    kind: 'usage',
  },
  ENOENT: {
    state: 'the folder cannot be created',
    hint: 'choose another folder for the store: this file system does not support folders',
    kind: 'usage',
  },
  ENOTDIR: blockedByFile,
  EEXIST: blockedByFile,
  EISDIR: {
    state: 'a folder has the name of the file',
    hint: 'move other files out of the folder of the store',
    kind: 'usage',
  },
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: { state: 'the file is too large for the file system', hint: full.hint },
  ENAMETOOLONG: {
    state: 'the name is too long for the file system',
    hint: 'choose a folder with a shorter path',
    kind: 'usage',
  },
  EXDEV: {
    state: 'part of the folder is on another file system',
    hint: 'keep the whole store on one file system: objects are moved into place in one step',
    kind: 'usage',
  },
  EMFILE: {
    state: 'too many files are open',
    hint: 'raise the limit of open files (ulimit -n)',
  },
}

/** Runs `act` and explains errors of the file system. */
export async function explained<T>(
  action: string,
  path: string,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw explainFileError(error, action, path)
  }
}

/** Explains an error of the file system. Returns any other error unchanged. */
function explainFileError(error: unknown, action: string, path: string): unknown {
  const code = fileErrorCode(error)
  if (code === undefined) return error
  const { state, hint, kind } = explanations[code] ?? {
    state: `the file system answered ${code}`,
    hint: 'check the disk and the mount',
  }
  return new StoreError(`Cannot ${action} ${path}: ${state}`, {
    kind: kind ?? 'failed',
    hint,
    cause: error,
  })
}

/** The system's code, such as `ENOENT`, when the error comes from a system call. */
export function fileErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
