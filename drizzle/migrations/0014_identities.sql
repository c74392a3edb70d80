CREATE TABLE `identities` (
	`business_user_id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`proof` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_user_id_unique` ON `identities` (`user_id`);--> statement-breakpoint
CREATE TABLE `identity_conflicts` (
	`business_user_id` text NOT NULL,
	`user_id` text NOT NULL,
	`other_user_id` text,
	`at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`business_user_id`, `user_id`)
);
--> statement-breakpoint
CREATE INDEX `identity_conflicts_user` ON `identity_conflicts` (`user_id`);--> statement-breakpoint
CREATE INDEX `identity_conflicts_other` ON `identity_conflicts` (`other_user_id`);--> statement-breakpoint
CREATE TABLE `link_codes` (
	`mac` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`whatsapp_id` text NOT NULL,
	`challenge_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	`claimed_by` text,
	`sent_by` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `link_codes_challenge_id_unique` ON `link_codes` (`challenge_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `link_codes_sent_by_unique` ON `link_codes` (`sent_by`);--> statement-breakpoint
CREATE INDEX `link_codes_expiry` ON `link_codes` (`expires_at`);--> statement-breakpoint
CREATE INDEX `link_codes_phone` ON `link_codes` (`phone`);--> statement-breakpoint
CREATE TABLE `phone_changes` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`phone` text NOT NULL,
	`whatsapp_id` text NOT NULL,
	`mac` text NOT NULL,
	`expires_at` integer NOT NULL,
	`tries_left` integer NOT NULL,
	`tried_by` text,
	`won_by` text
);
--> statement-breakpoint
CREATE INDEX `phone_changes_user` ON `phone_changes` (`user_id`);--> statement-breakpoint
CREATE INDEX `phone_changes_phone` ON `phone_changes` (`phone`);--> statement-breakpoint
CREATE INDEX `phone_changes_expiry` ON `phone_changes` (`expires_at`);