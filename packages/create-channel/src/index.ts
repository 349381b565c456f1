export { type Scaffold, ScaffoldError, scaffold } from "./scaffold.ts";
