CREATE TABLE `usage_model_day` (
	`day` text NOT NULL,
	`agent_id` text NOT NULL,
	`session_key` text NOT NULL,
	`sender` text NOT NULL,
	`model` text NOT NULL,
	`runs` integer NOT NULL,
	`model_calls` integer NOT NULL,
	`input_tokens` integer NOT NULL,
	`output_tokens` integer NOT NULL,
	`cache_read_tokens` integer NOT NULL,
	`cache_write_tokens` integer NOT NULL,
	`cost_micros` integer NOT NULL,
	PRIMARY KEY(`day`, `agent_id`, `session_key`, `sender`, `model`)
) STRICT, WITHOUT ROWID;
