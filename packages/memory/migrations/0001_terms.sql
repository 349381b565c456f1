-- `src/text` produces the terms, separated by spaces. The tokenizer must keep them as they are.
CREATE VIRTUAL TABLE `chunk_terms` USING fts5(
	body, access,
	tokenize = "ascii tokenchars '@~-._:,'",
	content = '', contentless_delete = 1
);
--> statement-breakpoint
CREATE VIRTUAL TABLE `term_count` USING fts5vocab(chunk_terms, 'row');
--> statement-breakpoint
CREATE VIRTUAL TABLE `term_place` USING fts5vocab(chunk_terms, 'instance');
--> statement-breakpoint
-- Merge segments as late as SQLite allows, because every merge rewrites them.
INSERT INTO chunk_terms(chunk_terms, rank) VALUES ('automerge', 16);
