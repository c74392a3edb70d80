CREATE TABLE `aliases` (
	`kind` text NOT NULL,
	`value` text NOT NULL,
	`user_id` text NOT NULL,
	`proof` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`kind`, `value`)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `aliases_user` ON `aliases` (`user_id`,`kind`);--> statement-breakpoint
INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'phone', `phone`, `id`, CASE WHEN `contacted_at` IS NULL THEN 'token' ELSE 'contact' END, `created_at` FROM `users`;--> statement-breakpoint
INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'whatsapp', `whatsapp_id`, `id`, CASE WHEN `contacted_at` IS NULL THEN 'typed' ELSE 'contact' END, `created_at` FROM `users`
  WHERE `whatsapp_id` IS NOT NULL ON CONFLICT DO NOTHING;--> statement-breakpoint
INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'business', `business_user_id`, `user_id`, `proof`, `at` FROM `identities`;--> statement-breakpoint
CREATE TRIGGER `users_insert_aliases` AFTER INSERT ON `users` BEGIN
  INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'phone', new.`phone`, new.`id`, CASE WHEN new.`contacted_at` IS NULL THEN 'token' ELSE 'contact' END, new.`created_at`
    WHERE true ON CONFLICT DO NOTHING;
  INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'whatsapp', new.`whatsapp_id`, new.`id`, CASE WHEN new.`contacted_at` IS NULL THEN 'typed' ELSE 'contact' END, new.`created_at`
    WHERE new.`whatsapp_id` IS NOT NULL ON CONFLICT DO NOTHING;
END;--> statement-breakpoint
CREATE TRIGGER `users_phone_aliases` AFTER UPDATE OF `phone` ON `users` WHEN new.`phone` <> old.`phone` BEGIN
  UPDATE `aliases` SET `value` = new.`phone`, `proof` = 'code', `at` = unixepoch() * 1000
    WHERE `kind` = 'phone' AND `user_id` = new.`id` AND `value` <> new.`phone`;
END;--> statement-breakpoint
CREATE TRIGGER `users_whatsapp_aliases` AFTER UPDATE OF `whatsapp_id` ON `users` WHEN new.`whatsapp_id` IS NOT old.`whatsapp_id` BEGIN
  DELETE FROM `aliases` WHERE `kind` = 'whatsapp' AND `user_id` = new.`id` AND `value` IS NOT new.`whatsapp_id`;
  INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'whatsapp', new.`whatsapp_id`, new.`id`, 'contact', unixepoch() * 1000
    WHERE new.`whatsapp_id` IS NOT NULL ON CONFLICT DO NOTHING;
END;--> statement-breakpoint
CREATE TRIGGER `users_delete_aliases` AFTER DELETE ON `users` BEGIN
  DELETE FROM `aliases` WHERE `user_id` = old.`id`;
END;--> statement-breakpoint
CREATE TRIGGER `identities_insert_aliases` AFTER INSERT ON `identities` BEGIN
  INSERT INTO `aliases` (`kind`, `value`, `user_id`, `proof`, `at`) SELECT 'business', new.`business_user_id`, new.`user_id`, new.`proof`, new.`at` WHERE true ON CONFLICT DO NOTHING;
END;--> statement-breakpoint
CREATE TRIGGER `identities_update_aliases` AFTER UPDATE ON `identities` BEGIN
  UPDATE `aliases` SET `value` = new.`business_user_id`, `proof` = new.`proof`, `at` = new.`at` WHERE `kind` = 'business' AND `user_id` = new.`user_id`
      AND (`value`, `proof`, `at`) IS NOT (new.`business_user_id`, new.`proof`, new.`at`);
END;--> statement-breakpoint
CREATE TRIGGER `identities_delete_aliases` AFTER DELETE ON `identities` BEGIN
  DELETE FROM `aliases` WHERE `kind` = 'business' AND `value` = old.`business_user_id`;
END;--> statement-breakpoint
CREATE TRIGGER `aliases_insert_identities` AFTER INSERT ON `aliases` WHEN new.`kind` = 'business' BEGIN
  INSERT INTO `identities` (`business_user_id`, `user_id`, `proof`, `at`) SELECT new.`value`, new.`user_id`, new.`proof`, new.`at` WHERE true ON CONFLICT DO NOTHING;
END;--> statement-breakpoint
CREATE TRIGGER `aliases_update_identities` AFTER UPDATE ON `aliases` WHEN new.`kind` = 'business' BEGIN
  UPDATE `identities` SET `business_user_id` = new.`value`, `proof` = new.`proof`, `at` = new.`at` WHERE `user_id` = new.`user_id`
      AND (`business_user_id`, `proof`, `at`) IS NOT (new.`value`, new.`proof`, new.`at`);
END;--> statement-breakpoint
CREATE TRIGGER `aliases_delete_identities` AFTER DELETE ON `aliases` WHEN old.`kind` = 'business' BEGIN
  DELETE FROM `identities` WHERE `business_user_id` = old.`value`;
END;
