export { accessConformance } from "./access.ts";
