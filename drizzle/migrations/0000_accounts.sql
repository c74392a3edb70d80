CREATE TABLE `bot_calls` (
	`id` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`by` text NOT NULL,
	`at` integer NOT NULL,
	`answer` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `bot_calls_age` ON `bot_calls` (`at`);--> statement-breakpoint
CREATE TABLE `burnt_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`by` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `burnt_tokens_expiry` ON `burnt_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `codes` (
	`phone` text PRIMARY KEY NOT NULL,
	`mac` text NOT NULL,
	`sent_by` text NOT NULL,
	`expires_at` integer NOT NULL,
	`tries_left` integer NOT NULL,
	`tried_by` text,
	`won_by` text
);
--> statement-breakpoint
CREATE INDEX `codes_expiry` ON `codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `hits` (
	`subject` text NOT NULL,
	`at` integer NOT NULL,
	`by` text NOT NULL,
	PRIMARY KEY(`subject`, `at`, `by`)
);
--> statement-breakpoint
CREATE INDEX `hits_age` ON `hits` (`at`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text DEFAULT ('evt_' || lower(hex(randomblob(16)))) NOT NULL,
	`phone` text NOT NULL,
	`body` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`leased_until` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_id_unique` ON `outbox` (`id`);--> statement-breakpoint
CREATE INDEX `outbox_phone` ON `outbox` (`phone`,`seq`);--> statement-breakpoint
CREATE INDEX `outbox_due` ON `outbox` (`due_at`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `spent_trials` (
	`phone_mac` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trial_links` (
	`mac` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`phone_mac` text NOT NULL,
	`tier` text NOT NULL,
	`days` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_by` text
);
--> statement-breakpoint
CREATE INDEX `trial_links_user` ON `trial_links` (`user_id`);--> statement-breakpoint
CREATE INDEX `trial_links_expiry` ON `trial_links` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`whatsapp_id` text,
	`status` text NOT NULL,
	`platform` text DEFAULT 'whatsapp' NOT NULL,
	`created_at` integer NOT NULL,
	`contacted_at` integer,
	`week_anchor` integer NOT NULL,
	`week_frozen` integer DEFAULT false NOT NULL,
	`week_start` integer NOT NULL,
	`used` integer DEFAULT 0 NOT NULL,
	`usage_seq` integer DEFAULT 0 NOT NULL,
	`tier` text DEFAULT 'free' NOT NULL,
	`subscription_status` text DEFAULT 'active' NOT NULL,
	`renewal_at` integer,
	`cancel_at` integer,
	`scheduled_tier` text,
	`trial_tier` text,
	`trial_ends_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_phone_unique` ON `users` (`phone`);--> statement-breakpoint
CREATE INDEX `users_trial_end` ON `users` (`trial_ends_at`);