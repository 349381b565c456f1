CREATE TABLE `message_context` (
	`session_key` text NOT NULL,
	`seq` integer NOT NULL,
	`text` text NOT NULL,
	`recalled` text NOT NULL,
	PRIMARY KEY(`session_key`, `seq`)
) STRICT, WITHOUT ROWID;
