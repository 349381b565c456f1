export { mistralChat } from "./provider.ts";
