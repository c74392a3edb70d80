CREATE TABLE `claims` (
	`mac` text PRIMARY KEY NOT NULL,
	`sealed` text NOT NULL,
	`sent_by` text NOT NULL,
	`code_mac` text NOT NULL,
	`tries_left` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`proven_at` integer,
	`user_id` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `claims_sent_by_unique` ON `claims` (`sent_by`);--> statement-breakpoint
CREATE INDEX `claims_expiry` ON `claims` (`expires_at`);--> statement-breakpoint
CREATE INDEX `claims_user` ON `claims` (`user_id`);--> statement-breakpoint
CREATE TABLE `code_messages` (
	`mac` text PRIMARY KEY NOT NULL,
	`sent_by` text,
	`sealed_phone` text,
	`sent_at` integer,
	`subjects` text,
	`state` text DEFAULT 'sent' NOT NULL,
	`recipient_mac` text,
	`kept_until` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `code_messages_expiry` ON `code_messages` (`kept_until`);--> statement-breakpoint
ALTER TABLE `codes` ADD `undelivered` integer DEFAULT false NOT NULL;