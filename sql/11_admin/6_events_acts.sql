create function private.on_refund_of_act_answered() returns trigger
  language plpgsql
  security definer -- updates admin_acts, for any role that stores the provider's response
  set search_path = ''
as $$
begin
  update public.admin_acts
  set state = case new.state when 'settled' then 'done' else 'refused' end,
      result = case new.state
        when 'settled'
          then private.kwd_text(new.amount) || ' KWD to the source. This cannot be undone.'
        else 'The provider refused it: the money stays where it was.' end,
      done_at = clock_timestamp()
  where admin_acts.id = new.id and admin_acts.state in ('waiting', 'refused');
  return null;
end
$$;
comment on function private.on_refund_of_act_answered is
  'Completes an act once the provider has settled or rejected its refund.';

create trigger refunds_end_their_acts
  after update of state on public.refunds
  for each row when (old.state <> new.state)
  execute function private.on_refund_of_act_answered();
