ALTER TABLE `outbox` ADD `user_id` text;--> statement-breakpoint
CREATE TRIGGER `outbox_user_of_phone` AFTER INSERT ON `outbox` WHEN new.`user_id` IS NULL BEGIN
  UPDATE `outbox` SET `user_id` = (SELECT `id` FROM `users` WHERE `phone` = new.`phone`) WHERE `seq` = new.`seq`;
END;--> statement-breakpoint
UPDATE `outbox` SET `user_id` = (SELECT `id` FROM `users` WHERE `users`.`phone` = `outbox`.`phone`);--> statement-breakpoint
CREATE INDEX `outbox_user` ON `outbox` (`user_id`,`seq`);
