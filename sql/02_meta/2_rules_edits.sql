create trigger vocabularies_keep_what_was_edited
  before update on public.vocabularies
  for each row execute function private.keep_edits();
create trigger governorates_keep_what_was_edited
  before update on public.governorates
  for each row execute function private.keep_edits();
create trigger areas_keep_what_was_edited
  before update on public.areas
  for each row execute function private.keep_edits();
create trigger landmarks_keep_what_was_edited
  before update on private.landmarks
  for each row execute function private.keep_edits();
