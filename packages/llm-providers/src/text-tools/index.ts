export { withTextTools } from "./stream.ts";
