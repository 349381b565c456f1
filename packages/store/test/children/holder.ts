// Holds the home named on the command line until it is killed.
import { acquireHomeLock } from "@signalbox/store";

acquireHomeLock(String(process.argv[2]), { details: { port: 1 } });
process.stdout.write("held\n");
setInterval(() => {}, 60_000);
