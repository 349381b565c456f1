-- Terms are separated by spaces and made in `src/text`; the tokenizer only has to leave them as they are.
CREATE VIRTUAL TABLE `chunk_terms` USING fts5(
	body, about, dates, access,
	tokenize = "ascii tokenchars '@~-._:,'",
	content = '', contentless_delete = 1
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `term_count` USING fts5vocab(chunk_terms, 'row');
--> statement-breakpoint
CREATE VIRTUAL TABLE `term_place` USING fts5vocab(chunk_terms, 'instance');
--> statement-breakpoint
-- Parts of the index are merged as late as SQLite lets them be: every merge writes them again.
INSERT INTO chunk_terms(chunk_terms, rank) VALUES ('automerge', 16);
