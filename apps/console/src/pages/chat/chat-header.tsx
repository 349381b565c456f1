import type { ConversationInfo, Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState } from "react";
import { useConversations } from "../../conversation/conversations.tsx";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useWords } from "../../words/words.tsx";

interface Props {
  /** Undefined until the gateway lists the conversation. */
  info: ConversationInfo | undefined;
  agentId: string;
}

/** Title of a conversation, with buttons to rename and delete it. */
export function ChatHeader({ info, agentId }: Props): ReactNode {
  const words = useWords();
  const client = useClient();
  const { agents, begin, refresh } = useConversations();
  const [renaming, setRenaming] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const agent = agents.find((each) => each.id === agentId);

  const change = async (request: Promise<void>, next: () => void) => {
    try {
      await request;
      setProblem(undefined);
      next();
      await refresh();
    } catch (error) {
      setProblem(toProblem(error));
    }
  };

  return (
    <>
      <header>
        <label className="agent">
          <span className="hidden">{words.chat.agent}</span>
          <select value={agentId} onChange={(event) => begin(event.target.value)}>
            {agent === undefined && <option value={agentId}>{agentId}</option>}
            {agents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        </label>
        {agent && <span className="model">{agent.model}</span>}
        {info && (
          <span className="deeds">
            <button type="button" className="quiet" onClick={() => setRenaming(true)}>
              {words.chat.rename}
            </button>
            <ConfirmButton
              label={words.chat.remove}
              question={words.chat.reallyRemove}
              onConfirm={() => void change(client.removeConversation(info.id), () => begin(agentId))}
            />
          </span>
        )}
      </header>
      {info && renaming && (
        <TitleForm
          title={info.title}
          onCancel={() => setRenaming(false)}
          onSave={(title) => void change(client.renameConversation(info.id, title), () => setRenaming(false))}
        />
      )}
      {problem && (
        <ProblemNote problem={problem} action={{ label: words.dismiss, run: () => setProblem(undefined) }} />
      )}
    </>
  );
}

interface TitleProps {
  title: string;
  onSave: (title: string) => void;
  onCancel: () => void;
}

function TitleForm({ title, onSave, onCancel }: TitleProps): ReactNode {
  const words = useWords();
  const [text, setText] = useState(title);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") onSave(text.trim());
  };
  return (
    <form className="line" onSubmit={save}>
      <label>
        <span className="hidden">{words.chat.title}</span>
        <input
          value={text}
          maxLength={200}
          // biome-ignore lint/a11y/noAutofocus: the user has just clicked Rename
          autoFocus
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === "Escape" && onCancel()}
        />
      </label>
      <button type="submit" disabled={text.trim() === ""}>
        {words.chat.save}
      </button>
      <button type="button" className="quiet" onClick={onCancel}>
        {words.chat.cancel}
      </button>
    </form>
  );
}
