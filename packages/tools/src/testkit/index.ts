export { approvalStoreConformance } from "./approval-store.ts";
