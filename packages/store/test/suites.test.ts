import { expect, test } from "vitest";
import { storeSuites } from "../src/testkit/index.ts";
import { testStore } from "./support.ts";

storeSuites({ test, expect, open: testStore });
