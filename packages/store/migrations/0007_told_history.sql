CREATE TABLE `told_history` (
	`session_key` text NOT NULL,
	`seq` integer NOT NULL,
	`place` integer NOT NULL,
	`conversation` text NOT NULL,
	`entry_id` text NOT NULL,
	`sender_id` text NOT NULL,
	`body` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`session_key`, `seq`, `place`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `told_history_entry` ON `told_history` (`conversation`,`entry_id`);