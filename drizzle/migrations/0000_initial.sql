CREATE TABLE `aliases` (
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`user_id` text NOT NULL,
	`proof` text NOT NULL,
	`at` integer NOT NULL,
	`binding_mac` text,
	PRIMARY KEY(`kind`, `value`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `aliases_user` ON `aliases` (`user_id`,`kind`);--> statement-breakpoint
CREATE TABLE `bot_calls` (
	`id` text PRIMARY KEY NOT NULL,
	`fingerprint` text NOT NULL,
	`by` text NOT NULL,
	`at` integer NOT NULL,
	`facts` text NOT NULL,
	`outcome` text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE `chat_erasures` (
	`user_id` text PRIMARY KEY NOT NULL,
	`epoch` integer,
	`created_at` integer NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `chat_erasures_due` ON `chat_erasures` (`due_at`);--> statement-breakpoint
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
CREATE TABLE `codes` (
	`phone` text NOT NULL,
	`challenge` text NOT NULL,
	`mac` text NOT NULL,
	`sent_by` text NOT NULL,
	`sent_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`tries_left` integer NOT NULL,
	`undelivered` integer DEFAULT false NOT NULL,
	PRIMARY KEY(`phone`, `challenge`)
);
--> statement-breakpoint
CREATE INDEX `codes_expiry` ON `codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `consents` (
	`user_id` text NOT NULL,
	`version` text NOT NULL,
	`given_at` integer NOT NULL,
	`withdrawn_at` integer,
	PRIMARY KEY(`user_id`, `given_at`, `version`)
);
--> statement-breakpoint
CREATE TABLE `customers` (
	`user_id` text PRIMARY KEY NOT NULL,
	`stripe_id` text,
	`stripe_asked` integer DEFAULT false NOT NULL,
	`asked_at` integer,
	`attempt` integer DEFAULT 1 NOT NULL,
	`dirty` integer DEFAULT 0 NOT NULL,
	`synced` integer DEFAULT 0 NOT NULL,
	`synced_at` integer DEFAULT 0 NOT NULL,
	`due_at` integer DEFAULT 0,
	`failures` integer DEFAULT 0 NOT NULL,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	`setup_session` text,
	`had_subscription` integer DEFAULT false NOT NULL,
	`deletion_began_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `customers_stripe_id_unique` ON `customers` (`stripe_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `customers_lease_token_unique` ON `customers` (`lease_token`);--> statement-breakpoint
CREATE INDEX `customers_due` ON `customers` (`due_at`);--> statement-breakpoint
CREATE INDEX `customers_deletion` ON `customers` (`deletion_began_at`) WHERE deletion_began_at is not null;--> statement-breakpoint
CREATE TABLE `daily_codes` (
	`day` integer PRIMARY KEY NOT NULL,
	`sent` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `daily_totals` (
	`day` integer NOT NULL,
	`kind` text NOT NULL,
	`detail` text DEFAULT '' NOT NULL,
	`n` integer NOT NULL,
	PRIMARY KEY(`kind`, `day`, `detail`)
);
--> statement-breakpoint
CREATE TABLE `decisions` (
	`id` integer PRIMARY KEY NOT NULL,
	`outcome` text NOT NULL,
	`facts` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `identity_conflicts` (
	`id_mac` text NOT NULL,
	`user_id` text NOT NULL,
	`other_user_id` text,
	`at` integer NOT NULL,
	`last_at` integer NOT NULL,
	PRIMARY KEY(`id_mac`, `user_id`)
);
--> statement-breakpoint
CREATE INDEX `identity_conflicts_last` ON `identity_conflicts` (`last_at`);--> statement-breakpoint
CREATE INDEX `identity_conflicts_user` ON `identity_conflicts` (`user_id`);--> statement-breakpoint
CREATE INDEX `identity_conflicts_other` ON `identity_conflicts` (`other_user_id`);--> statement-breakpoint
CREATE TABLE `left_weeks` (
	`phone_mac` text PRIMARY KEY NOT NULL,
	`used` integer NOT NULL,
	`ends_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `left_weeks_end` ON `left_weeks` (`ends_at`);--> statement-breakpoint
CREATE TABLE `link_codes` (
	`mac` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`whatsapp_id` text NOT NULL,
	`challenge_id` text NOT NULL,
	`language` text DEFAULT 'en' NOT NULL,
	`expires_at` integer NOT NULL,
	`claimed_by` text,
	`sent_by` text
);
--> statement-breakpoint
CREATE UNIQUE INDEX `link_codes_challenge_id_unique` ON `link_codes` (`challenge_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `link_codes_sent_by_unique` ON `link_codes` (`sent_by`);--> statement-breakpoint
CREATE INDEX `link_codes_expiry` ON `link_codes` (`expires_at`);--> statement-breakpoint
CREATE INDEX `link_codes_phone` ON `link_codes` (`phone`);--> statement-breakpoint
CREATE TABLE `outbox` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text DEFAULT ('evt_' || lower(hex(randomblob(16)))) NOT NULL,
	`user_id` text,
	`phone` text NOT NULL,
	`body` text NOT NULL,
	`message_id` text,
	`created_at` integer DEFAULT 0 NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer NOT NULL,
	`leased_until` integer DEFAULT 0 NOT NULL,
	`parked_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_id_unique` ON `outbox` (`id`);--> statement-breakpoint
CREATE INDEX `outbox_user` ON `outbox` (`user_id`,`seq`);--> statement-breakpoint
CREATE INDEX `outbox_due` ON `outbox` (`due_at`);--> statement-breakpoint
CREATE INDEX `outbox_parked` ON `outbox` (`parked_at`) WHERE parked_at is not null;--> statement-breakpoint
CREATE TABLE `phone_changes` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`phone` text NOT NULL,
	`whatsapp_id` text NOT NULL,
	`mac` text NOT NULL,
	`expires_at` integer NOT NULL,
	`tries_left` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `phone_changes_user` ON `phone_changes` (`user_id`);--> statement-breakpoint
CREATE INDEX `phone_changes_phone` ON `phone_changes` (`phone`);--> statement-breakpoint
CREATE INDEX `phone_changes_expiry` ON `phone_changes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `purchase_choices` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_id` text NOT NULL,
	`tier` text NOT NULL,
	`start_now` integer NOT NULL,
	`text_version` text NOT NULL,
	`weekly_cents` integer NOT NULL,
	`currency` text NOT NULL,
	`language` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `purchase_choices_user` ON `purchase_choices` (`user_id`);--> statement-breakpoint
CREATE TABLE `push_subscriptions` (
	`endpoint` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`session_id` text NOT NULL,
	`p256dh` text NOT NULL,
	`auth` text NOT NULL,
	`public_key` text NOT NULL,
	`language` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `push_subscriptions_user` ON `push_subscriptions` (`user_id`);--> statement-breakpoint
CREATE INDEX `push_subscriptions_expiry` ON `push_subscriptions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `rate_limit_events` (
	`subject` text NOT NULL,
	`at` integer NOT NULL,
	`by` text NOT NULL,
	PRIMARY KEY(`subject`, `at`, `by`)
);
--> statement-breakpoint
CREATE TABLE `receipt_mails` (
	`statement_id` text NOT NULL,
	`inbox` text NOT NULL,
	`is_own` integer NOT NULL,
	`sealed` text NOT NULL,
	`network` text,
	`budget` text,
	`send_at` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	`kept_until` integer NOT NULL,
	PRIMARY KEY(`statement_id`, `inbox`)
);
--> statement-breakpoint
CREATE INDEX `receipt_mails_due` ON `receipt_mails` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `receipt_mails_inbox` ON `receipt_mails` (`inbox`,`send_at`);--> statement-breakpoint
CREATE INDEX `receipt_mails_network` ON `receipt_mails` (`network`,`send_at`);--> statement-breakpoint
CREATE INDEX `receipt_mails_budget` ON `receipt_mails` (`budget`,`send_at`);--> statement-breakpoint
CREATE INDEX `receipt_mails_kept` ON `receipt_mails` (`kept_until`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`is_limited` integer DEFAULT false NOT NULL,
	`binding_mac` text,
	`last_seen_at` integer DEFAULT 0 NOT NULL,
	`device` text
);
--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `stripe_events` (
	`id` text PRIMARY KEY NOT NULL,
	`type` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `trial_links` (
	`mac` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`phone_mac` text NOT NULL,
	`binding_mac` text,
	`tier` text NOT NULL,
	`days` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`is_used` integer DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE INDEX `trial_links_user` ON `trial_links` (`user_id`);--> statement-breakpoint
CREATE INDEX `trial_links_expiry` ON `trial_links` (`expires_at`);--> statement-breakpoint
CREATE TABLE `used_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`by` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `used_tokens_expiry` ON `used_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `used_trials` (
	`phone_mac` text PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`phone` text NOT NULL,
	`is_contested` integer DEFAULT false NOT NULL,
	`status` text NOT NULL,
	`platform` text DEFAULT 'whatsapp' NOT NULL,
	`platform_chosen_at` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`contacted_at` integer,
	`last_contact_at` integer DEFAULT 0 NOT NULL,
	`last_seen_at` integer DEFAULT 0 NOT NULL,
	`retention_due_at` integer DEFAULT 0 NOT NULL,
	`retention_notice_at` integer,
	`week_anchor` integer NOT NULL,
	`week_frozen` integer DEFAULT false NOT NULL,
	`week_start` integer NOT NULL,
	`used` integer DEFAULT 0 NOT NULL,
	`usage_seq` integer DEFAULT 0 NOT NULL,
	`streams_open_until` integer DEFAULT 0 NOT NULL,
	`tier` text DEFAULT 'free' NOT NULL,
	`subscription_status` text DEFAULT 'active' NOT NULL,
	`renewal_at` integer,
	`cancel_at` integer,
	`reason_counted_for` integer,
	`scheduled_tier` text,
	`collection_pause` text,
	`resumes_at` integer,
	`trial_tier` text,
	`trial_ends_at` integer,
	`tier_waits` integer DEFAULT false NOT NULL,
	`billing_watch_until` integer,
	`chat_key` text,
	`chat_key_id` text,
	`chat_epoch` integer DEFAULT 0 NOT NULL,
	`chat_consent_version` text,
	`chat_consent_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_phone_unique` ON `users` (`phone`);--> statement-breakpoint
CREATE INDEX `users_trial_end` ON `users` (`trial_ends_at`);--> statement-breakpoint
CREATE INDEX `users_chat_key_id` ON `users` (`chat_key_id`) WHERE chat_key_id is not null;--> statement-breakpoint
CREATE INDEX `users_retention` ON `users` (`retention_due_at`);--> statement-breakpoint
CREATE TABLE `withdrawals` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`user_id` text,
	`origin` text NOT NULL,
	`name` text,
	`contact` text NOT NULL,
	`plan` text,
	`email` text,
	`language` text NOT NULL,
	`submitted_at` integer NOT NULL,
	`kept_until` integer NOT NULL,
	`receipt` text NOT NULL,
	`billed_at` integer,
	`subscription` text,
	`tier` text,
	`concluded_at` integer,
	`start_now` integer,
	`currency` text,
	`refund` integer,
	`state` text DEFAULT 'received' NOT NULL,
	`reason` text,
	`due_at` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`announced_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `withdrawals_id_unique` ON `withdrawals` (`id`);--> statement-breakpoint
CREATE INDEX `withdrawals_user` ON `withdrawals` (`user_id`);--> statement-breakpoint
CREATE INDEX `withdrawals_state` ON `withdrawals` (`state`,`submitted_at`);--> statement-breakpoint
CREATE INDEX `withdrawals_due` ON `withdrawals` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `withdrawals_contract` ON `withdrawals` (`subscription`,`concluded_at`) WHERE subscription is not null;--> statement-breakpoint
CREATE TRIGGER `purchase_choices_kept` BEFORE UPDATE ON `purchase_choices` BEGIN
  SELECT raise(ABORT, 'a choice before a purchase is never changed');
END;--> statement-breakpoint
CREATE TRIGGER `withdrawals_kept` BEFORE DELETE ON `withdrawals` WHEN old.`kept_until` > unixepoch() * 1000 BEGIN
  SELECT raise(ABORT, 'a statement of withdrawal is kept until kept_until');
END;--> statement-breakpoint
CREATE TRIGGER `withdrawals_owned` BEFORE UPDATE OF `user_id` ON `withdrawals`
WHEN old.`user_id` IS NOT NULL AND new.`user_id` IS NOT old.`user_id` BEGIN
  SELECT raise(ABORT, 'a statement of withdrawal stays with its account');
END;--> statement-breakpoint
CREATE TRIGGER `withdrawals_stated` BEFORE UPDATE ON `withdrawals`
WHEN (old.`seq`, old.`id`, old.`origin`, old.`name`, old.`contact`, old.`plan`, old.`email`, old.`language`, old.`submitted_at`, old.`receipt`)
  IS NOT (new.`seq`, new.`id`, new.`origin`, new.`name`, new.`contact`, new.`plan`, new.`email`, new.`language`, new.`submitted_at`, new.`receipt`)
  OR (old.`subscription` IS NOT NULL AND (old.`subscription`, old.`concluded_at`) IS NOT (new.`subscription`, new.`concluded_at`)) BEGIN
  SELECT raise(ABORT, 'what a statement of withdrawal says is never changed');
END;
