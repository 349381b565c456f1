// Entry point of the process that `sharedProcess` starts. Serves one account per connection to the given
// socket.
import { createServer } from "node:net";
import { serveAccount } from "@signalbox/channel/process";

const server = createServer((line) => serveAccount(line, () => {}));
server.listen(process.argv[2], () => process.send?.("listening"));
process.once("disconnect", () => process.exit(0));
