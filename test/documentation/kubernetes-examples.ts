import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { withoutCluster } from './cluster.ts'
import type { Run, Setting } from './examples.ts'
import type { World } from './world.ts'

const refused = /refused/

/** A run without a cluster. */
function run(says: readonly RegExp[], set: Run['set'] = withoutCluster): Run {
  return { needs: ['kubectl'], set, says }
}

/** Renders the overlay once it is written. */
async function withoutOverlay(world: World): Promise<Setting> {
  const setting = await withoutCluster(world)
  await rm(join(`${setting.folder}`, 'my-dashkeep'), { recursive: true })
  const shown = 'trap "kubectl kustomize my-dashkeep" EXIT; mkdir my-dashkeep'
  return { ...setting, replace: { 'mkdir my-dashkeep': shown } }
}

/** A run for each block of docs/kubernetes.md, by how it begins. */
export const kubernetesExamples: Readonly<Record<string, Run>> = {
  'kubectl create namespace dashkeep': run([
    /^namespace\/dashkeep$/m,
    /^secret\/dashkeep-tokens$/m,
    /^secret\/dashkeep-s3$/m,
  ]),

  'mkdir my-dashkeep': run(
    [
      /image: registry\.example\.com\/dashkeep:/,
      /^ {2}name: dashkeep-verify$/m,
      /- name: production$/m,
    ],
    withoutOverlay,
  ),

  'kubectl apply --dry-run=server --kustomize my-dashkeep': run([/^kind: CronJob$/m, refused]),

  'kubectl --namespace dashkeep create job --from=cronjob/dashkeep first-run': run([refused]),

  'kubectl --namespace dashkeep create job --from=cronjob/dashkeep-copy first-copy': run([refused]),

  'kubectl --namespace dashkeep apply --kustomize dashkeep/k8s/volume': run([
    /^kind: PersistentVolumeClaim$/m,
    refused,
  ]),

  'kubectl --namespace dashkeep create secret generic dashkeep-identity --from-file=identity=./key.txt':
    run([/^secret\/dashkeep-identity$/m]),

  'kubectl --namespace dashkeep create job --from=cronjob/dashkeep-toolbox toolbox': run([
    refused,
    /^ok +store delete/m,
  ]),

  'kubectl --namespace dashkeep exec job/toolbox -- dashkeep status': run(
    [/^1 account in file:/m, /^\d+ snapshots in file:/m, /^restored/m],
    async (world) => ({
      ...(await withoutCluster(world)),
      replace: { '/tmp': world.folder },
    }),
  ),

  'toolbox() { kubectl --namespace dashkeep exec job/toolbox -- dashkeep "$@"; }': run([
    /^\d+\.\d+\.\d+$/m,
  ]),

  "toolbox history 'Shop overview'": run([/disappeared/]),

  'toolbox status --max-age 26h': run(
    [/^1 account in file:/m, refused, /^ok +store delete/m],
    async (world) => ({
      ...(await withoutCluster(world)),
      // It may be stale, with exit code 4.
      replace: { '--max-age 26h': '--max-age 26h || true' },
    }),
  ),

  'ls tokens': run([/^production$/m, refused, /100001/]),

  'kubectl --namespace dashkeep patch cronjob dashkeep --patch \'{"spec":{"suspend":true}}\'': run(
    [/^verified \d+ snapshots/m],
    async (world) => ({
      ...(await withoutCluster(world)),
      // The archive stays where it is.
      replace: { 'aws s3 sync': 'true' },
    }),
  ),

  'kubectl --namespace dashkeep logs --selector app.kubernetes.io/component=verify --prefix --tail=-1':
    run([refused]),

  'kubectl delete --kustomize my-dashkeep': run([/^kind: CronJob$/m, refused]),
}
