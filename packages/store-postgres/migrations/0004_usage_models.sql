CREATE TABLE "usage_model_day" (
	"day" text COLLATE "C" NOT NULL,
	"agent_id" text COLLATE "C" NOT NULL,
	"session_key" text COLLATE "C" NOT NULL,
	"sender" text COLLATE "C" NOT NULL,
	"model" text COLLATE "C" NOT NULL,
	"runs" bigint NOT NULL,
	"model_calls" bigint NOT NULL,
	"input_tokens" bigint NOT NULL,
	"output_tokens" bigint NOT NULL,
	"cache_read_tokens" bigint NOT NULL,
	"cache_write_tokens" bigint NOT NULL,
	"cost_micros" bigint NOT NULL,
	CONSTRAINT "usage_model_day_day_agent_id_session_key_sender_model_pk" PRIMARY KEY("day","agent_id","session_key","sender","model")
);
