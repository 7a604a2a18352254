-- The kinds of notification: which preferences rule each, which screen it opens.

create view private.notification_kinds with (security_invoker = true) as
select kinds.*, private.collapses(kinds.kind) as collapses from (values
  ('message_new', 'messages', 'conversation'),
  ('lead_new', 'leads', 'leads'),
  ('favorite_price_drop', 'favorites', 'property'),
  ('favorite_unavailable', 'favorites', 'favorites'),
  ('listing_expiring', 'listings', 'my_property'),
  ('listing_approved', 'listings', 'my_property'),
  ('listing_rejected', 'listings', 'my_property'),
  ('review_new', 'reviews', 'review'),
  ('invoice_paid', 'billing', 'invoice'),
  ('invoice_failed', 'billing', 'invoice'),
  ('refund', 'billing', 'invoice'),
  ('plan_expiring', 'billing', 'plan'),
  ('identity_verified', 'account', 'identity'),
  ('identity_rejected', 'account', 'identity'),
  ('security_login', 'account', 'sessions'),
  ('security_password', 'account', 'sessions'),
  ('security_provider', 'account', 'sessions'),
  ('system', 'account', 'notifications')
) as kinds (kind, category, route);
comment on view private.notification_kinds is
  'Every kind of notification: the category of its preferences (vocabulary notification_category), '
  'the screen that it opens, whether events of one thing make one unread notification.';
