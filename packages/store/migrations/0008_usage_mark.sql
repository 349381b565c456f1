CREATE TABLE `usage_mark` (
	`one` integer PRIMARY KEY NOT NULL,
	`run` integer NOT NULL,
	`open` text NOT NULL
) STRICT;
