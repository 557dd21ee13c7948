/** Second words for one thing, spellings that Node-RED's users no longer expect, and other ways to address them. */
export const avoided: Readonly<Record<string, RegExp>> = {
  de: /\b(?:du|dein\w*|dich|dir)\b|Strichcode|Lebenszeichen|Abrechnungsgewicht|Frachtgewicht|Datenträger|unbearbeitete|[Aa]nforderung|\bComputer\b|\bLogs?\b/,
  "en-US": /(?<![.\w])[Ii]ds?\b|\banew\b|\bown rule|\btyped in\b|\bvouch|TLS config\b|\bfor its age/,
  es: /[Pp]aquetes? de pruebas|\bpetici(?:ón|ones)|\blector(?:es)?\b|tareas abiertas|archivo histórico|más nuevos|\b(?:usted|avise|cancele|compruebe|conecte|corrija|elija|embale|escanee|escriba|espere|instancie|introduzca|mire|ponga|pulse|seleccione|verifique)\b|(?:^|[.:;] )(?:haga|termine|vea|vuelva)\b/i,
  fr: /noeud|boîte d'édition|\b(?:les?|un|ce) nodes?\b(?!-)|tâches ouvertes|enregistrements du webhook|(?<!boîte de )\bdialogue/i,
  ja: /装置|コンマ|すべて|ほかの|旧型|壊れ|トランザクションの記録|証跡|設定画面|(?:フォルダ|ユーザ|サーバ|ヘッダ|コンピュータ)ー|[（）：]/,
  ko: /오류|대화 상자|이전 세대|[하오두마]세요|트랜잭션 기록|scan 노드|십시오|리세요|증빙|치수와 무게|설정 화면/,
  pt: /código de rastreio|número de rastreamento|(?<!caixa de )\bdiálogo|carimbos? de tempo|tarefas abertas|pacotes? de evidências/i,
  ru: /номера? отправлени|запис[ьи] о транзакции|прежнего поколения|архивац|переменн\S+ окружения|ё/i,
  zh: /图像|录像|旧款|证据包|静默|scan 节点/,
  "zh-TW":
    /對話框|測量|舊款|追蹤號碼|scan 節點|視頻|信息|默認|網絡|軟件|文件夾|設置|服務器|圖片|紀錄|編輯視窗|\bProxy\b/,
};
