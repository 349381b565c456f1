// Run by `sharedProcess`: serves an account over each line that is opened to the socket it is given.
import { createServer } from "node:net";
import { serveAccount } from "@signalbox/channel/process";

const server = createServer((line) => serveAccount(line, () => {}));
server.listen(process.argv[2], () => process.send?.("listening"));
process.once("disconnect", () => process.exit(0));
