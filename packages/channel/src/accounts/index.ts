export {
  type Account,
  type AccountHealth,
  type AccountRight,
  type Accounts,
  type AccountsOptions,
  createAccounts,
  type PlannedAccount,
  type Services,
} from "./accounts.ts";
export { definitionIn, importChannel } from "./import-channel.ts";
export { type ImportOptions, importPackage, urlInHome } from "./import-package.ts";
export { senderName } from "./sender-name.ts";
export { channelState, type StateNotes } from "./state.ts";
