export { type BundleOptions, openBundle } from "./open-bundle.ts";
export { optimiseAfter } from "./optimising.ts";
