export { permitRequests } from "../host/request-phase.ts";
export {
  type Account,
  type AccountLease,
  type AccountServices,
  type Accounts,
  createAccounts,
  type PlannedAccount,
} from "./accounts.ts";
export { findDefinition, importChannel } from "./import-channel.ts";
export { type ImportOptions, importPackage, resolveInHome } from "./import-package.ts";
export { resolveSenderName } from "./sender-name.ts";
export { createChannelState } from "./state.ts";
