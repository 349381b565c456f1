import "./styles/mantine.css";
import "virtual:theme-variables.css";
import { MantineProvider } from "@mantine/core";
import { createClient } from "@signalbox/client";
import { lazy, StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { colorSchemes } from "./color-scheme.ts";
import { theme } from "./theme.ts";
import { InLanguage } from "./words/words.tsx";
import "./styles/base.css";

/** Loaded after the page, because no toast appears before it. */
const Toasts = lazy(async () => ({ default: (await import("./parts/toast-area.tsx")).ToastArea }));

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the console.");

// Always the gateway that served the page. The query and the fragment of the URL cannot change it.
const client = createClient({ baseUrl: location.origin });

createRoot(root).render(
  <StrictMode>
    {/* The build writes the variables and classes into a style sheet, because the policy forbids style elements. */}
    <MantineProvider
      theme={theme}
      colorSchemeManager={colorSchemes}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <InLanguage>
        <App client={client} />
        <Suspense>
          <Toasts />
        </Suspense>
      </InLanguage>
    </MantineProvider>
  </StrictMode>,
);
