import { createClient } from "@signalbox/client";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { InLanguage } from "./words/words.tsx";
import "./styles/base.css";
import "./styles/log.css";
import "./styles/markdown.css";
import "./styles/page.css";
import "./styles/sheet.css";

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no place for the console.");

// Always the gateway that served the page. The query and the fragment of the URL cannot change it.
const client = createClient({ baseUrl: location.origin });

createRoot(root).render(
  <StrictMode>
    <InLanguage>
      <App client={client} />
    </InLanguage>
  </StrictMode>,
);
