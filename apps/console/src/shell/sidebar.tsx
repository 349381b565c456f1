import { type ReactNode, useEffect } from "react";
import { useConversations } from "../conversation/conversations.tsx";
import { useGateway } from "../gateway.tsx";
import { Sign } from "../parts/sign.tsx";
import { useLanguage, useWords } from "../words/words.tsx";
import { ConversationList } from "./conversation-list.tsx";
import { PageLinks } from "./page-links.tsx";

interface Props {
  /** True while the sidebar is open on a narrow screen, where it covers the page. */
  isOpen: boolean;
  onClose: () => void;
}

export function Sidebar({ isOpen, onClose }: Props): ReactNode {
  const words = useWords();
  const [language, choose] = useLanguage();
  const { me, signOut } = useGateway();
  const { begin } = useConversations();
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: KeyboardEvent) => {
      if (event.key === "Escape") onClose();
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, [isOpen, onClose]);

  return (
    <>
      {isOpen && (
        <button type="button" className="shade" aria-label={words.sidebar.close} onClick={onClose} />
      )}
      <div className={isOpen ? "sidebar open" : "sidebar"}>
        <div className="brand">
          <Sign />
          <h1>Signalbox</h1>
        </div>
        {me.user.role !== "member" && <PageLinks onFollow={onClose} />}
        <button type="button" className="new" onClick={() => begin()}>
          {words.sidebar.begin}
        </button>
        <ConversationList onFollow={onClose} />
        <footer>
          <span>
            {me.user.name} · {me.version}
          </span>
          <button type="button" className="quiet" onClick={() => choose(language === "en" ? "zh" : "en")}>
            {words.sidebar.language}
          </button>
          <button type="button" className="quiet" onClick={() => void signOut()}>
            {words.sidebar.signOut}
          </button>
        </footer>
      </div>
    </>
  );
}
