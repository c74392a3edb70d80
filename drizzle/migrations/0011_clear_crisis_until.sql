UPDATE `users` SET `crisis_until` = NULL WHERE `crisis_until` IS NOT NULL;
