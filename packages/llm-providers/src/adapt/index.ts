export { type Adapted, adapt } from "./adapt.ts";
export type { AdaptOptions } from "./convert.ts";
export { type Loss, lossWarnings } from "./losses.ts";
