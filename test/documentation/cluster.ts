import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { checkout } from './blocks.ts'
import type { Setting } from './examples.ts'
import type { World } from './world.ts'

/**
 * A `kubectl` without a cluster. What `exec` names runs here, manifests are rendered and Secrets are
 * made by the real one. Of anything else the real one has to understand the options: it may fail only
 * because no server answers.
 */
function kubectlScript(real: string): string {
  return `#!/bin/bash
set -euo pipefail
if [[ " $* " == *" exec "* ]]; then
  while [ "$1" != -- ]; do shift; done
  shift
  exec "$@"
fi
if [[ "$1" == kustomize || "$*" == *--dry-run=client* ]]; then exec ${real} "$@"; fi
if [[ "$*" == *"create secret"* || "$*" == *"create namespace"* ]]; then
  exec ${real} "$@" --dry-run=client --output=name
fi
if [[ "$*" == *--kustomize* ]]; then ${real} kustomize "\${@: -1}" | grep ^kind:; fi
${real} --kubeconfig /dev/null --server http://127.0.0.1:1 "$@" 2>&1 | tee said || true
grep --quiet refused said
`
}

/** A folder with a clone of the repository, tokens and keys, where a `kubectl` works without a cluster. */
export async function withoutCluster({ account, folder, shell }: World): Promise<Setting> {
  const place = await mkdtemp(join(folder, 'cluster-'))
  await symlink(checkout, join(place, 'dashkeep'))
  await mkdir(join(place, 'tokens'))
  await writeFile(join(place, 'tokens/production'), `${account.DASHKEEP_API_TOKEN}\n`)
  await writeFile(join(place, 'credentials'), '[default]\n')
  await writeFile(join(place, 'key.txt'), 'AGE-SECRET-KEY-1\n')
  await mkdir(join(place, 'my-dashkeep'))
  const kustomization = 'namespace: dashkeep\nresources: [../dashkeep/k8s/base]\n'
  await writeFile(join(place, 'my-dashkeep/kustomization.yaml'), kustomization)
  const programs = await mkdtemp(join(folder, 'programs-'))
  const real = execFileSync('sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim()
  const scripts = { kubectl: kubectlScript(real), toolbox: '#!/bin/sh\nexec dashkeep "$@"\n' }
  for (const [name, text] of Object.entries(scripts)) {
    await writeFile(join(programs, name), text)
    await chmod(join(programs, name), 0o755)
  }
  const env = { ...account, PATH: [programs, shell.PATH].join(delimiter) }
  return { folder: place, env }
}
