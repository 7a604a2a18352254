// Signs in and registers. A phone is registered with a code that is sent by SMS (locally to the inbox).
import type { Page } from '../main.ts'
import { client } from '../service.ts'
import { html, press, submit } from '../ui.ts'

export const signInPage: Page = async (into) => {
  const home = () => (location.hash = '#/search')
  const form = html`<form class="fields" @submit=${submit(() => client.auth.signIn(given()).then(home))}>
    <label>رقم الهاتف أو البريد<input name="identifier" autocomplete="username" dir="ltr"></label>
    <label>كلمة المرور<input name="password" type="password" autocomplete="current-password" dir="ltr"></label>
    <label>الاسم، لحساب جديد<input name="fullName" autocomplete="name"></label>
    <div class="line"><button>دخول</button>
      <button class="second" type="button" @click=${press(register)}>حساب جديد</button></div></form>` as HTMLFormElement
  const value = (name: string) => String(new FormData(form).get(name))
  const given = () => ({ identifier: value('identifier'), password: value('password') })

  async function register() {
    const { identifier, password } = given()
    const started = await client.auth.register({ identifier, password, fullName: value('fullName') })
    if (started.status !== 'awaiting_otp') return home()
    const { registrationId } = started
    const code = html`<input inputmode="numeric" autocomplete="one-time-code" dir="ltr">` as HTMLInputElement
    const verify = () => client.auth.verify({ identifier, code: code.value, registrationId }).then(home)
    form.replaceWith(html`<form class="fields" @submit=${submit(verify)}>
      <label>الرمز الذي وصلك${code}</label><button>تأكيد</button></form>`)
  }

  into.append(
    html`<h2>الدخول إلى حسابك</h2>`,
    form,
    html`<p class="none">للتجربة مع npm start: الرقم 50000021 وكلمة المرور Diwaniya-2026</p>`,
  )
}
