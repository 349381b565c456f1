export {
  type Account,
  type AccountHealth,
  type Accounts,
  type AccountsOptions,
  createAccounts,
  type PlannedAccount,
  type Services,
} from "./accounts.ts";
export { type ImportOptions, importChannel } from "./import-channel.ts";
export { senderName } from "./sender-name.ts";
