DROP TABLE `challenges`;--> statement-breakpoint
DROP TABLE `codes`;--> statement-breakpoint
CREATE TABLE `codes` (
	`phone` text NOT NULL,
	`challenge` text NOT NULL,
	`mac` text NOT NULL,
	`sent_by` text NOT NULL,
	`sent_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`tries_left` integer NOT NULL,
	PRIMARY KEY(`phone`, `challenge`)
);
--> statement-breakpoint
CREATE INDEX `codes_expiry` ON `codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `decisions` (
	`id` text PRIMARY KEY NOT NULL,
	`outcome` text NOT NULL,
	`facts` text NOT NULL
);
