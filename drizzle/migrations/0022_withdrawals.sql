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
CREATE INDEX `withdrawals_due` ON `withdrawals` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `withdrawals_contract` ON `withdrawals` (`subscription`,`concluded_at`) WHERE subscription is not null;--> statement-breakpoint
CREATE TRIGGER `purchase_choices_kept` BEFORE UPDATE ON `purchase_choices` BEGIN
  SELECT raise(ABORT, 'a choice before a purchase is never changed');
END;--> statement-breakpoint
CREATE TRIGGER `withdrawals_stated` BEFORE UPDATE ON `withdrawals`
WHEN (old.`seq`, old.`id`, old.`origin`, old.`name`, old.`contact`, old.`plan`, old.`email`, old.`language`, old.`submitted_at`)
  IS NOT (new.`seq`, new.`id`, new.`origin`, new.`name`, new.`contact`, new.`plan`, new.`email`, new.`language`, new.`submitted_at`)
  OR (old.`subscription` IS NOT NULL AND (old.`subscription`, old.`concluded_at`) IS NOT (new.`subscription`, new.`concluded_at`)) BEGIN
  SELECT raise(ABORT, 'what a statement of withdrawal says is never changed');
END;--> statement-breakpoint
CREATE TRIGGER `withdrawals_kept` BEFORE DELETE ON `withdrawals` WHEN old.`kept_until` > unixepoch() * 1000 BEGIN
  SELECT raise(ABORT, 'a statement of withdrawal is kept until kept_until');
END;
