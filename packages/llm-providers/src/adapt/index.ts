export { type Adapted, type AdaptOptions, adapt, type Loss, lossWarnings } from "./adapt.ts";
