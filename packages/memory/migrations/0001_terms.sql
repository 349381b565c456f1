-- Terms are separated by spaces and made in `src/text`; the tokenizer only has to leave them as they are.
CREATE VIRTUAL TABLE `chunk_terms` USING fts5(
	body, about, dates, access,
	tokenize = "ascii tokenchars '@~-._:,'",
	content = '', contentless_delete = 1
);
--> statement-breakpoint
INSERT INTO chunk_terms(chunk_terms, rank) VALUES ('rank', 'bm25(1.0, 0.6, 0.6, 0.0)');
--> statement-breakpoint
CREATE VIRTUAL TABLE `term_count` USING fts5vocab(chunk_terms, 'row');
