export { type BundleOptions, openBundle } from "./open-bundle.ts";
