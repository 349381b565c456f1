import type { Language } from "@signalbox/client";
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from "react";
import { en, type Words } from "./en.ts";
import { languageCookie, preferredLanguage, wordsOf } from "./language.ts";

const Chosen = createContext<{ words: Words; language: Language; choose: (language: Language) => void }>({
  words: en,
  language: "en",
  choose: () => {},
});

/** Provides the texts of the current language, and a function to change it. */
export function InLanguage({ children }: { children: ReactNode }): ReactNode {
  const [language, setLanguage] = useState(() => preferredLanguage(document.cookie, navigator.languages));
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const chosen = useMemo(
    () => ({
      words: wordsOf(language),
      language,
      choose: (next: Language) => {
        // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API requires TLS
        document.cookie = languageCookie(next);
        setLanguage(next);
      },
    }),
    [language],
  );
  return <Chosen value={chosen}>{children}</Chosen>;
}

/** Returns the texts that the frame and several pages share. */
export function useWords(): Words {
  return useContext(Chosen).words;
}

/** Creates a hook that returns the texts of one page. They are loaded with the page. */
export function pageWords<PageWords>(words: Readonly<Record<Language, PageWords>>): () => PageWords {
  return () => words[useLanguage()[0]];
}

export function useLanguage(): [Language, (language: Language) => void] {
  const { language, choose } = useContext(Chosen);
  return [language, choose];
}
