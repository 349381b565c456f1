export { inOwnProcess } from "./in-own-process.ts";
