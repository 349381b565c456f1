import { storeConformance } from "@signalbox/store/testkit";
import { openEmpty, test } from "./support.ts";

storeConformance(test, openEmpty);
