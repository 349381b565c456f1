CREATE TABLE `budget_pot` (
	`account` text NOT NULL,
	`period` text NOT NULL,
	`micros` integer DEFAULT 0 NOT NULL,
	`tokens` integer DEFAULT 0 NOT NULL,
	`grants` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`account`, `period`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `budget_reservation` (
	`id` text NOT NULL,
	`account` text NOT NULL,
	`period` text NOT NULL,
	`micros` integer NOT NULL,
	`tokens` integer NOT NULL,
	`lease_name` text NOT NULL,
	`lease_epoch` integer NOT NULL,
	PRIMARY KEY(`id`, `account`, `period`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `budget_reservation_pot` ON `budget_reservation` (`account`,`period`);