export { googleGenerative } from "./provider.ts";
