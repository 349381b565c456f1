export { type LedgerUnderTest, ledgerConformance } from "./ledger.ts";
