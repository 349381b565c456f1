export {
  type AccountLeases,
  type AccountLeasesOptions,
  type AccountRight,
  createAccountLeases,
} from "./account-leases.ts";
export { type BackupReport, backupHome } from "./backup/backup.ts";
export { type BodiesWithParts, pruneSentBlobs } from "./backup/blobs.ts";
export { type LastBackup, lastBackup, noteBackup } from "./backup/note.ts";
export { changeConfig, proposedConfig } from "./config/edit.ts";
export { readConfig, rereadConfig } from "./config/read.ts";
export { type ConfigVersion, configText, configVersions, restoreConfig } from "./config/versions.ts";
export { type ConfigWatch, watchConfig } from "./config/watch.ts";
export { gatewayLease, lockHome, takeLease, withDatabase } from "./database.ts";
export { GatewayError, type GatewayErrorCode } from "./errors.ts";
export { folderFault, prepareHome, prepareWorkspace } from "./folders.ts";
export { configuredPath, type Env, type Home, locateHome } from "./layout.ts";
export type { HomeLogger } from "./logger.ts";
export { type OpenHome, type OpenHomeOptions, openHome } from "./open-home.ts";
export { closeHome, type OpenFile, openFiles } from "./permissions.ts";
export { isThere } from "./readable.ts";
export { storeWithRedaction } from "./redacted-store.ts";
export { type Restored, restoreBackup } from "./restore.ts";
export { keepSecret } from "./secrets/files.ts";
export { type JudgedSecrets, judgeSecrets } from "./secrets/judge.ts";
export { ASSUMED_SECRETS, secretSources } from "./secrets/sources.ts";
export { openVault } from "./secrets/vault.ts";
export {
  effectiveToken,
  type GatewayToken,
  gatewayToken,
  keepToken,
  openListeningProblem,
  refuseGuessableToken,
  refuseOpenListening,
  tokenBesideConfig,
} from "./token.ts";
export { type OneOffs, pruneOneOffs } from "./upkeep/one-offs.ts";
export { pruneStore, retentionOf } from "./upkeep/pruning.ts";
export { createUpkeep, type Upkeep, type UpkeepOptions } from "./upkeep/upkeep.ts";
