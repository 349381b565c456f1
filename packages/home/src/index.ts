export { type AccountLeases, type AccountLeasesOptions, createAccountLeases } from "./account-leases.ts";
export { type BackupOptions, type BackupReport, backupHome } from "./backup/backup.ts";
export { type BodiesWithParts, pruneSentBlobs } from "./backup/blobs.ts";
export { type LastBackup, readLastBackup, recordBackup } from "./backup/note.ts";
export { listScheduledBackups, type RotationOptions, rotateBackups } from "./backup/rotation.ts";
export { tryRestore } from "./backup/try-restore.ts";
export { changeConfig, editedText, proposedConfig } from "./config/edit.ts";
export { loadConfigText, readConfig, rereadConfig } from "./config/read.ts";
export { getStoreUrl } from "./config/store-url.ts";
export {
  type ConfigVersion,
  configText,
  configVersions,
  replaceConfig,
  restoreConfig,
} from "./config/versions.ts";
export { type ConfigWatch, watchConfig } from "./config/watch.ts";
export { type Control, type ControlRequest, createControl } from "./control.ts";
export { hasDatabase, lockHome, takeLease, withDatabase } from "./database.ts";
export { GatewayError, type GatewayErrorCode } from "./errors.ts";
export { folderFault, prepareHome, prepareWorkspace } from "./folders.ts";
export { createHeldLeases, type HeldLease, type HeldLeases, type HeldLeasesOptions } from "./held-leases.ts";
export { configuredPath, type Env, type Home, locateHome } from "./layout.ts";
export type { LeaseTerm } from "./lease-term.ts";
export type { HomeLogger } from "./logger.ts";
export { createMaintenance, type Maintenance, type MaintenanceOptions } from "./maintenance/maintenance.ts";
export { createMaintenanceLease, type MaintenanceLease } from "./maintenance/maintenance-lease.ts";
export { type OneOffs, pruneOneOffs } from "./maintenance/one-offs.ts";
export { pruneStore, retentionOf } from "./maintenance/pruning.ts";
export { getNodeId } from "./node.ts";
export { type OpenHome, type OpenHomeOptions, openHome } from "./open-home.ts";
export { type ExposedFile, findExposedFiles, restrictHome } from "./permissions.ts";
export { isThere } from "./readable.ts";
export { storeWithRedaction } from "./redacted-store.ts";
export { type RestoreReport, restoreBackup } from "./restore.ts";
export { ALL_SEATS, mayRunOn, type NodeLabels, type Seats } from "./seats.ts";
export { type CheckedSecrets, checkSecrets } from "./secrets/check.ts";
export { openSecretValues, storeSecret } from "./secrets/files.ts";
export { findMissingSecrets, type MissingSecret } from "./secrets/missing.ts";
export { ASSUMED_SECRETS, secretSources } from "./secrets/sources.ts";
export { openVault } from "./secrets/vault.ts";
export { type AgentGroup, createSharedSeats, type SeatWork, type SharedSeats } from "./shared-seats.ts";
export {
  effectiveToken,
  type GatewayToken,
  gatewayToken,
  isLoopback,
  openListeningProblem,
  refuseGuessableToken,
  refuseOpenListening,
  storeToken,
  tokenBesideConfig,
} from "./token.ts";
