CREATE TABLE "object" (
	"key" text COLLATE "C" PRIMARY KEY NOT NULL,
	"size" bigint NOT NULL,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "object_part" (
	"key" text COLLATE "C" NOT NULL,
	"n" bigint NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "object_part_key_n_pk" PRIMARY KEY("key","n")
);
